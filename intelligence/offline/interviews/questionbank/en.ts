/** The question templates in English. bank.ts describes the fields. */
import type { Bank } from './bank.ts';

export const en: Bank = {
  opening: {
    named: 'Please introduce yourself. Which part of your experience matters most for the role of {role}?',
    plain: 'Please introduce yourself. Which part of your experience matters most for this job?',
  },

  aboutSkill: {
    introduction: ['This job asks for “{skill}”. Where have you needed it so far?'],
    technical: [
      'junior: This job asks for “{skill}”. How well prepared do you feel for it, and why?',
      'mid: “{skill}” matters to us. What from your work so far would you point to?',
      'senior: In your experience, what do people underestimate about “{skill}”?',
      'lead: Suppose that you are hiring for this job yourself. How would you check “{skill}”?',
      'This job calls for “{skill}”. What do you bring, and what would you still have to learn?',
    ],
    behavioral: [
      'junior, mid: This job asks for “{skill}”. Tell us about a time at work when it mattered.',
      'senior, lead: This job asks for “{skill}”. Tell us about a time at work when a lot depended on it.',
    ],
  },

  aboutCriterion: [
    'One thing we look at is “{criterion}”. Which example from your work would you give us?',
    'What would your last team say about you when it comes to “{criterion}”?',
  ],

  aboutQuote: {
    achievement: [
      'Your resume says: “{quote}”. What was your own part in it?',
      'Your resume says: “{quote}”. How did you go about it, and how did you know that it worked?',
      'Your resume says: “{quote}”. What would you do differently today?',
    ],
    position: [
      'Your resume lists “{quote}”. Which of your tasks there come closest to this job?',
      'Your resume lists “{quote}”. What did you learn there that you use today?',
    ],
    skill: 'Your resume says: “{quote}”. What part did “{skill}” play in that?',
    missing:
      'Your resume does not mention “{skill}”, which this job asks for. Where have you needed it so far, if at all?',
  },

  general: {
    introduction: [
      'What have you worked on in the last twelve months?',
      'How did you come to the work that you do today?',
      'What does a normal working day look like for you?',
      'Which piece of work are you most proud of, and why?',
      'What were you responsible for in your last job?',
      'Who do you work with most closely, and on what?',
      'What else should we know about you?',
    ],
    technical: [
      'junior, mid: How do you go about it when you have to learn something new for your work?',
      'senior, lead: Which decision in your work had the greatest effect, and how did you come to it?',
      'senior, lead: How do you decide what is good enough?',
      'What are the most common mistakes in your line of work, and how do you avoid them?',
      'Please explain something complicated from your work in simple words.',
      'How do you go about finding the cause of a problem?',
      'Which tools do you use every day, and what for?',
      'How do you keep your knowledge up to date?',
      'Which rules or standards matter most in your work, and why?',
      'What has changed most in your line of work in recent years?',
    ],
    behavioral: [
      'lead: Tell us about a person whom you helped to grow. What did you do?',
      'lead: Tell us about a decision of yours that your team did not like. How did you handle it?',
      'senior: Tell us about a time when you changed the mind of somebody with more power than you.',
      'junior: Tell us about something that you learned from a colleague.',
      'Tell us about a difficult problem that you solved. How did you go about it?',
      'Tell us about a disagreement in a team. How did it end?',
      'Tell us about a mistake of yours. What did you do about it?',
      'Tell us about feedback that changed how you work.',
      'Tell us about a time when you had to change your plans quickly.',
      'Tell us about a decision that you made with too little information.',
      'Tell us about a goal that you did not reach. What did you learn from it?',
      'When did you last help somebody else to succeed, and how?',
      'When did you take on something that nobody had asked you to do?',
      'When did you say no at work? What happened?',
    ],
    situational: [
      'lead: Half of your team falls ill for a week. How do you keep what was promised?',
      'lead: Two good people in your team no longer speak to each other. What do you do?',
      'senior: You take over work that is far behind schedule. What are your first steps?',
      'junior: You are stuck, and everybody who could help is busy. What do you do?',
      'Two urgent tasks come in at once. How do you decide which one is first?',
      'You notice that you will not finish in time. What do you do, and when?',
      'You are given a task that is unclear. What are your first steps?',
      'Somebody is angry with you. How do you answer?',
      'You find a serious mistake in work that is already finished. What do you do?',
      'Your manager asks for something that you think is wrong. What do you do?',
      'Somebody asks you something that you cannot answer. What do you say?',
      'A colleague makes the same mistake again and again. What do you do?',
      'You and a colleague want to do the same task in different ways. How do you agree?',
      'On your first day nobody has time to show you around. What do you do?',
    ],
    motivation: [
      'Why do you want this job?',
      'What do you expect from your first three months here?',
      'What does a good day at work look like for you?',
      'What makes a team one that you like to work in?',
      'What would you like to be better at in a year than you are today?',
      'Which kind of work do you find hardest, and how do you get it done?',
      'Which of your present tasks would you like to keep, and which not?',
      'What do you expect from a manager?',
      'What questions do you have for us?',
    ],
  },

  doings: [
    'plan your work',
    'check your own work',
    'explain something difficult to somebody',
    'hand work over to somebody',
    'take over work from somebody',
    'solve a problem',
    'decide what comes first',
    'help a colleague',
    'work with other departments',
    'write something down for others',
    'make a decision in a group',
    'estimate how long something takes',
    'give somebody feedback',
    'start a new task',
  ],

  aboutDoing: {
    introduction: [
      'What from your past experience helps you most when you {doing}?',
      'What is typical of how you {doing}?',
      'What have you learned from others that you use when you {doing}?',
    ],
    technical: [
      'What do you pay most attention to when you {doing}?',
      'What do you try to avoid when you {doing}?',
      'Please describe how you {doing}.',
    ],
    behavioral: [
      'What do you do differently today than in the past when you {doing}?',
      'What do colleagues value about you when you {doing}?',
      'What is hard for you when you {doing}? Please give an example.',
    ],
    situational: [
      'Suppose that you are short of time when you {doing}. What do you do?',
      'Suppose that somebody complains about how you {doing}. What do you do?',
      'A new colleague wants to know how you {doing}. What do you say?',
    ],
    motivation: [
      'What do you enjoy when you {doing}?',
      'What takes you the most effort when you {doing}?',
      'What would you like to change about how you {doing}?',
    ],
  },
};
