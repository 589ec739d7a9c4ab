import type { Own } from './own.ts';

export const en: Own = {
  called: 'I have called a person from the team. They will reply here.',
  away: 'The team is not there at the moment. It is back on {when}.',
  greeting: 'Hello! What would you like to know?',
  thanks: 'You are welcome. Is there anything else you would like to know?',
  farewell: 'Goodbye, and write again whenever you need to.',
  help: 'Of course. I answer questions from the documents I have been given. What would you like to know?',
  small_talk: 'Thank you for asking. I am here for questions about our service. What would you like to know?',
  bot: 'I am an automated assistant and answer from the documents I have been given. If you would like a person, ask for one, and I will call one.',
  insult:
    'I am sorry that this is not going well. You can ask in other words, or ask for a person, and I will call one.',
  notFound:
    'I could not find an answer to this in the documents I have. You can ask it in other words, or ask for a person, and I will call one.',
  notFoundAgain:
    'I could not find an answer to this either, so I have called a person from the team. They will reply here.',
  outOfOrder: 'I cannot look this up at the moment, so I have called a person from the team. They will reply here.',
  memberAsked: 'Somebody of the team has to agree to this first. I will tell you here as soon as it is decided.',
  actionDone: 'That is done.',
  actionFailed: 'That did not work. Nothing was changed as far as I can see; you can try again, or ask for a person.',
  actionUnknown:
    'I do not know whether this was carried out, so I will not try again. I have called a person from the team, who will look and reply here.',
  actionDeclined: 'All right, nothing was done.',
  actionExpired: 'It was not confirmed in time, so nothing was done. Ask again if you still want it.',
  actionRefused: 'The team has not agreed to this, so nothing was done.',
  signInFirst: 'For this I have to know who you are. Please sign in and ask again.',
  personOnly: 'Only a person may do this, so I have called one from the team. They will reply here.',
  needsMore: 'I can look into that. Please tell me:',
  overTestLimit:
    'This is a test conversation, and its organization has used up the answers that test mode allows in a minute. Please ask again in a minute.',
  nothingFound: 'I could not find anything about this in the available documents.',
  mayHelp: 'This may help:',
  nothingMore: 'My documents say no more about this than what I have written above.',
  newer: '(From “{a}”; the older “{b}” says otherwise.)',
  otherLanguage: 'Our documents say this in another language:',
};
