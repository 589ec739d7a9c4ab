/** Questions in English. Pure data; see bank.ts. */
import { all, of, type Bank } from './bank.ts';

export const en: Bank = {
  opening: 'Please introduce yourself. Which of your experience matters most for the role {role}?',

  aboutSkill: {
    introduction: all('Where have you used {skill} so far?'),
    technical: [
      ...of(
        ['junior'],
        'What have you made with {skill} so far, and what was your own part in it?',
        'Which part of {skill} was the hardest to learn, and how did you learn it?',
        'Something with {skill} does not work. How do you find out why?',
      ),
      ...of(
        ['mid'],
        'Describe a project in which you used {skill}. What did you do yourself?',
        'Which problem with {skill} was the hardest that you solved, and how did you solve it?',
        'How do you make sure that your work with {skill} is right?',
      ),
      ...of(
        ['senior'],
        'What are the limits of {skill}, and what do you do when you reach them?',
        'Which decision about {skill} would you make differently today, and why?',
        'How do you judge whether {skill} is the right choice for a task?',
      ),
      ...of(
        ['lead'],
        'How do you judge the quality of the work of others with {skill}?',
        'How do you decide whether your team uses {skill}, and who takes part in that decision?',
        'Which rules for {skill} would you give a team, and how would you see that they are kept?',
      ),
      ...all('Explain {skill} to somebody who has never used it.'),
    ],
    behavioral: [
      ...of(['junior', 'mid'], 'Tell us of a mistake with {skill}. What did you change afterwards?'),
      ...of(['senior', 'lead'], 'When did you convince others of another way to use {skill}? How?'),
    ],
    situational: [
      ...of(['junior', 'mid'], 'You are given a task with {skill} that you have never done before. How do you begin?'),
      ...of(['senior', 'lead'], 'A colleague is new to {skill}. What would you teach first, and why?'),
    ],
    motivation: all('What do you like about working with {skill}, and what not?'),
  },

  aboutCriterion: [
    ...all(
      'Give an example from your work that shows your {criterion}.',
      'When did a situation at work ask most of your {criterion}? What did you do?',
      'What would your last team say of your {criterion}, and why?',
      'Where do you want to get better in {criterion}, and how?',
    ),
    ...of(['senior', 'lead'], 'How do you help others to improve their {criterion}?'),
  ],

  aboutQuote: {
    achievement: [
      'Your resume says: “{quote}”. What was your own part in it?',
      'Your resume says: “{quote}”. How did you go about it, and how did you know that it worked?',
      'Your resume says: “{quote}”. What would you do differently today?',
    ],
    position: [
      'Your resume lists “{quote}”. Which of your tasks there come closest to the role {role}?',
      'Your resume lists “{quote}”. What did you learn there that you use today?',
    ],
    skill: 'Your resume says: “{quote}”. How did you use {skill} there?',
    missing: 'Your resume does not mention {skill}, which this role needs. How would you begin with it?',
  },

  general: {
    introduction: all(
      'What have you worked on in the last twelve months?',
      'Which of your tasks so far prepared you best for the role {role}?',
      'How did you come to the work that you do today?',
      'Which work are you most proud of, and why?',
      'What does a usual working day of yours look like?',
    ),
    technical: [
      ...of(
        ['junior', 'mid'],
        'How do you learn something that you need for your work and do not know yet?',
        'How do you check the quality of your work before others see it?',
        'Which tools do you use every day, and why those?',
      ),
      ...of(
        ['senior', 'lead'],
        'Which technical decision of yours had the greatest effect, and how did you come to it?',
        'How do you keep a system simple while it grows?',
        'How do you decide what is good enough?',
      ),
      ...all(
        'Explain something complicated from your work in simple words.',
        'How do you find the cause of a problem that shows only sometimes?',
        'What do you do to keep the data of others safe in your work?',
        'How do you know that a task is finished?',
      ),
    ],
    behavioral: [
      ...of(
        ['lead'],
        'Tell us of a person whom you helped to grow. What did you do?',
        'Describe a decision of yours that your team did not like. How did you handle it?',
      ),
      ...of(['senior'], 'When did you change the mind of somebody with more power than you? How?'),
      ...of(['junior'], 'Tell us of something that you learned from a colleague.'),
      ...all(
        'Which result of your work are you proud of, and what was your part in it?',
        'Tell us of a disagreement in a team. How did it end?',
        'Describe feedback that changed how you work.',
        'Tell us of a decision that you made with too little information.',
        'When did you last help somebody else to succeed? How?',
        'Describe a goal that you did not reach. What did you learn?',
        'Tell us of a time when you had to change your plans quickly.',
        'When did you take on something that nobody had asked you to do?',
        'When did you say no at work? What happened?',
      ),
    ],
    situational: [
      ...of(
        ['lead'],
        'Half of your team falls ill for a week. How do you keep what was promised?',
        'Two good people in your team no longer speak with each other. What do you do?',
      ),
      ...of(['senior'], 'You take over a project that is three months late. What are your first steps?'),
      ...of(['junior'], 'You are stuck, and everybody who could help is busy. What do you do?'),
      ...all(
        'Two urgent tasks come in at once. How do you decide which one is first?',
        'You notice that a date cannot be kept. What do you do, and when?',
        'You are given a task that is unclear. What are your first steps?',
        'A customer or colleague is angry at you. How do you answer?',
        'You find a serious mistake in work that is already delivered. What do you do?',
        'Your manager asks for something that you think is wrong. What do you do?',
        'You take over work from somebody who has left. How do you begin?',
        'You are asked something in public that you cannot answer. What do you say?',
      ),
    ],
    motivation: all(
      'Why do you want to work as {role}?',
      'What do you expect from your first three months as {role}?',
      'Which kind of work costs you most, and how do you get it done?',
      'What makes a team one that you like to work in?',
      'Where do you want to be better in a year than you are today?',
      'Which of your former tasks would you like to keep, and which not?',
      'Which question about the role {role} do you have for us?',
    ),
  },

  aspects: [
    'planning a piece of work',
    'testing your own work',
    'writing things down for others',
    'keeping data safe',
    'estimating effort',
    'finding the cause of a fault',
    'reviewing the work of others',
    'handing work over',
    'working with what others left behind',
    'measuring results',
    'automating routine work',
    'keeping quality under pressure of time',
    'learning a new tool',
    'working with other departments',
    'making a decision in a group',
    'explaining your work to others',
  ],

  aboutAspect: {
    introduction: [
      'Which experience do you have with {aspect}?',
      'Where did you learn {aspect}?',
      'How much of your work was {aspect} so far?',
    ],
    technical: [
      'How do you go about {aspect} as {role}?',
      'Which tools or methods do you use for {aspect}, and why?',
      'Which advice about {aspect} would you give a new colleague?',
    ],
    behavioral: [
      'Tell us of a time when {aspect} was difficult. What did you do?',
      'What has changed in how you deal with {aspect} since you began to work?',
      'When did somebody else profit from how you go about {aspect}?',
    ],
    situational: [
      'Suppose that {aspect} goes wrong in your first month here. What do you do?',
      'Your team thinks that {aspect} takes too much time. What do you propose?',
      'You have one day for {aspect}, and it needs three. What do you do?',
    ],
    motivation: [
      'What do you like about {aspect}, and what not?',
      'How important is {aspect} to you in your next position?',
      'What would you like to learn about {aspect}?',
    ],
  },
  usualCriteria: ['Communication', 'Problem solving', 'Role knowledge'],
};
