/**
 * Routes for the webhooks of other services. Each request is verified by its raw bytes, stored, and answered at once.
 */
import { signature } from '../../access/auth.ts';
import * as contract from '../contract/inbound.ts';
import { ownedBy, takeIn } from '../inbound.ts';
import { email, github, linear } from '../signatures.ts';
import { slack, takeSlack } from '../slack.ts';
import { takeTeams, teams } from '../teams.ts';
import { route } from '../../http/route.ts';
import { githubArrival } from '../../../providers/github/verify.ts';
import { linearArrival } from '../../../providers/linear/verify.ts';
import { mailArrival } from '../../../providers/mail/verify.ts';

export const webhookRoutes = [
  route(contract.receiveLinear, {
    summary: 'An event of Linear, signed with the deployment’s secret or with one of an organization.',
    auth: signature(linear),
    otherParameters: 'ignored',
    async handle({ raw, principal }, ctx) {
      const stored = await takeIn(ctx, await linearArrival(principal.sender, raw, ownedBy(ctx)));
      return { received: true, repeated: !stored } as const;
    },
  }),
  route(contract.receiveGithub, {
    summary: 'An event of GitHub, signed with the secret of an organization that connected the repository.',
    auth: signature(github),
    otherParameters: 'ignored',
    async handle({ raw, principal }, ctx) {
      const stored = await takeIn(ctx, await githubArrival(principal.sender, raw, ownedBy(ctx)));
      return { received: true, repeated: !stored } as const;
    },
  }),
  route(contract.receiveTeams, {
    summary: 'A message of Microsoft Teams: with a token of the Bot Framework, or an HMAC, which is answered at once.',
    auth: signature(teams),
    otherParameters: 'ignored',
    maxBytes: 256 * 1024,
    async handle({ raw, principal }, ctx) {
      return takeTeams(ctx, principal.sender, raw);
    },
  }),
  route(contract.receiveEmail, {
    summary: 'A mail that Amazon SES received, or a confirmation, in a message that Amazon SNS signed.',
    auth: signature(email),
    otherParameters: 'ignored',
    async handle({ principal }, ctx) {
      const { replyDomain } = ctx.config.mail;
      const arrival = await mailArrival(principal.sender, { replyDomain, secrets: ctx.secrets });
      const stored = await takeIn(ctx, arrival);
      return { received: true, repeated: !stored } as const;
    },
  }),
  route(contract.receiveSlack, {
    summary: 'An event, a slash command or an interaction of Slack. The answer is what Slack wants to read at once.',
    auth: signature(slack),
    otherParameters: 'ignored',
    handle: ({ principal }, ctx) => takeSlack(ctx, principal.sender),
  }),
];
