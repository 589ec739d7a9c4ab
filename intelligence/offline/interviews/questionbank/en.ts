/** The question templates in English. bank.ts describes the rows. */
import { bankFrom } from './bank.ts';

export const en = bankFrom(`
opening named | Please introduce yourself. Which part of your experience matters most for the role of {role}?
opening plain | Please introduce yourself. Which part of your experience matters most for this job?
aboutSkill introduction | This job asks for “{skill}”. Where have you needed it so far?
aboutSkill technical | junior: This job asks for “{skill}”. How well prepared do you feel for it, and why?
aboutSkill technical | mid: “{skill}” matters to us. What from your work so far would you point to?
aboutSkill technical | senior: In your experience, what do people underestimate about “{skill}”?
aboutSkill technical | lead: Suppose that you are hiring for this job yourself. How would you check “{skill}”?
aboutSkill technical | This job calls for “{skill}”. What do you bring, and what would you still have to learn?
aboutSkill behavioral | junior, mid: This job asks for “{skill}”. Tell us about a time at work when it mattered.
aboutSkill behavioral | senior, lead: This job asks for “{skill}”. Tell us about a time at work when a lot depended on it.
aboutCriterion | One thing we look at is “{criterion}”. Which example from your work would you give us?
aboutCriterion | What would your last team say about you when it comes to “{criterion}”?
aboutQuote achievement | Your resume says: “{quote}”. What was your own part in it?
aboutQuote achievement | Your resume says: “{quote}”. How did you go about it, and how did you know that it worked?
aboutQuote achievement | Your resume says: “{quote}”. What would you do differently today?
aboutQuote position | Your resume lists “{quote}”. Which of your tasks there come closest to this job?
aboutQuote position | Your resume lists “{quote}”. What did you learn there that you use today?
aboutQuote skill | Your resume says: “{quote}”. What part did “{skill}” play in that?
aboutQuote missing | Your resume does not mention “{skill}”, which this job asks for. Where have you needed it so far, if at all?
general introduction | What have you worked on in the last twelve months?
general introduction | How did you come to the work that you do today?
general introduction | What does a normal working day look like for you?
general introduction | Which piece of work are you most proud of, and why?
general introduction | What were you responsible for in your last job?
general introduction | Who do you work with most closely, and on what?
general introduction | What else should we know about you?
general technical | junior, mid: How do you go about it when you have to learn something new for your work?
general technical | senior, lead: Which decision in your work had the greatest effect, and how did you come to it?
general technical | senior, lead: How do you decide what is good enough?
general technical | What are the most common mistakes in your line of work, and how do you avoid them?
general technical | Please explain something complicated from your work in simple words.
general technical | How do you go about finding the cause of a problem?
general technical | Which tools do you use every day, and what for?
general technical | How do you keep your knowledge up to date?
general technical | Which rules or standards matter most in your work, and why?
general technical | What has changed most in your line of work in recent years?
general behavioral | lead: Tell us about a person whom you helped to grow. What did you do?
general behavioral | lead: Tell us about a decision of yours that your team did not like. How did you handle it?
general behavioral | senior: Tell us about a time when you changed the mind of somebody with more power than you.
general behavioral | junior: Tell us about something that you learned from a colleague.
general behavioral | Tell us about a difficult problem that you solved. How did you go about it?
general behavioral | Tell us about a disagreement in a team. How did it end?
general behavioral | Tell us about a mistake of yours. What did you do about it?
general behavioral | Tell us about feedback that changed how you work.
general behavioral | Tell us about a time when you had to change your plans quickly.
general behavioral | Tell us about a decision that you made with too little information.
general behavioral | Tell us about a goal that you did not reach. What did you learn from it?
general behavioral | When did you last help somebody else to succeed, and how?
general behavioral | When did you take on something that nobody had asked you to do?
general behavioral | When did you say no at work? What happened?
general situational | lead: Half of your team falls ill for a week. How do you keep what was promised?
general situational | lead: Two good people in your team no longer speak to each other. What do you do?
general situational | senior: You take over work that is far behind schedule. What are your first steps?
general situational | junior: You are stuck, and everybody who could help is busy. What do you do?
general situational | Two urgent tasks come in at once. How do you decide which one is first?
general situational | You notice that you will not finish in time. What do you do, and when?
general situational | You are given a task that is unclear. What are your first steps?
general situational | Somebody is angry with you. How do you answer?
general situational | You find a serious mistake in work that is already finished. What do you do?
general situational | Your manager asks for something that you think is wrong. What do you do?
general situational | Somebody asks you something that you cannot answer. What do you say?
general situational | A colleague makes the same mistake again and again. What do you do?
general situational | You and a colleague want to do the same task in different ways. How do you agree?
general situational | On your first day nobody has time to show you around. What do you do?
general motivation | Why do you want this job?
general motivation | What do you expect from your first three months here?
general motivation | What does a good day at work look like for you?
general motivation | What makes a team one that you like to work in?
general motivation | What would you like to be better at in a year than you are today?
general motivation | Which kind of work do you find hardest, and how do you get it done?
general motivation | Which of your present tasks would you like to keep, and which not?
general motivation | What do you expect from a manager?
general motivation | What questions do you have for us?
doings | plan your work
doings | check your own work
doings | explain something difficult to somebody
doings | hand work over to somebody
doings | take over work from somebody
doings | solve a problem
doings | decide what comes first
doings | help a colleague
doings | work with other departments
doings | write something down for others
doings | make a decision in a group
doings | estimate how long something takes
doings | give somebody feedback
doings | start a new task
aboutDoing introduction | What from your past experience helps you most when you {doing}?
aboutDoing introduction | What is typical of how you {doing}?
aboutDoing introduction | What have you learned from others that you use when you {doing}?
aboutDoing technical | What do you pay most attention to when you {doing}?
aboutDoing technical | What do you try to avoid when you {doing}?
aboutDoing technical | Please describe how you {doing}.
aboutDoing behavioral | What do you do differently today than in the past when you {doing}?
aboutDoing behavioral | What do colleagues value about you when you {doing}?
aboutDoing behavioral | What is hard for you when you {doing}? Please give an example.
aboutDoing situational | Suppose that you are short of time when you {doing}. What do you do?
aboutDoing situational | Suppose that somebody complains about how you {doing}. What do you do?
aboutDoing situational | A new colleague wants to know how you {doing}. What do you say?
aboutDoing motivation | What do you enjoy when you {doing}?
aboutDoing motivation | What takes you the most effort when you {doing}?
aboutDoing motivation | What would you like to change about how you {doing}?
`);
