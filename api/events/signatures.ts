/** The services whose signed webhooks are stored unchanged, with the settings that verify each signature. */
import type { SignatureProvider } from '../access/auth.ts';
import { perConfig } from '../http/perconfig.ts';
import { createHttp } from '../../clients/http/http.ts';
import { cached } from '../../models/base/cached.ts';
import { verifyGithub, type GithubSender } from '../../providers/github/verify.ts';
import { listOthers, verifyLinear, type LinearSender } from '../../providers/linear/verify.ts';
import { createSnsVerifier } from '../../providers/mail/sns.ts';
import { verifyMail, type TopicSender, type Topics } from '../../providers/mail/verify.ts';

const others = perConfig(() => cached(listOthers));

export const linear: SignatureProvider<LinearSender> = {
  name: 'linear',
  header: 'linear-signature',
  verify: (request, { config, secrets }) =>
    verifyLinear(request, {
      secret: config.linearWebhookSecret,
      secrets,
      others: others(config),
    }),
};

export const github: SignatureProvider<GithubSender> = {
  name: 'github',
  header: 'x-hub-signature-256',
  verify: (request, { secrets }) => verifyGithub(request, secrets),
};

const topics = perConfig(({ sns: { topicArns, certHosts }, egressAllow }): Topics => {
  const hosts = { certHosts, egressAllow };
  const http = createHttp({ userAgent: 'SupportPlatform/1.0', egressAllow: [...egressAllow, ...certHosts] });
  return { topicArns, hosts, verifier: createSnsVerifier({ http, hosts }) };
});

export const email: SignatureProvider<TopicSender> = {
  name: 'email',
  header: 'x-amz-sns-message-type',
  verify: (request, { config }) => verifyMail(request, topics(config)),
};
