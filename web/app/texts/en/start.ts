/** English: the screen `start`. */
export const start = {
  lead: 'Five steps until customers get answers.',
  done: 'Done',
  steps: {
    upload: 'Give it something to answer from',
    ask: 'Ask it something',
    embed: 'Put the chat on a page',
    invite: 'Invite a colleague',
    live: 'Go live',
  } as Record<string, string>,
  says: {
    upload: 'Upload a document, write an article, or crawl your help centre.',
    ask: 'Ask as a customer would, and see which passages answer.',
    embed: 'One script tag. Try it on the demonstration page first.',
    invite: 'Whoever answers customers needs an account here.',
    live: 'Test data and real customers are kept apart; going live opens the second.',
  } as Record<string, string>,
};
