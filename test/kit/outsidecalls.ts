/** Interviews in external calls: a server with the API of the meeting-bot service, and a system that uses it. */
import { startBotService, type BotService } from './botservice.ts';
import { interviewing } from './interviewing.ts';
import { removeDataDir, startProcess, systemEnv } from './processes.ts';

/** `name` is the name of the system, unique in the run. */
export async function outsideCalls(name: string, settings: (service: BotService) => Record<string, string>) {
  const service = await startBotService();
  const env = systemEnv(name, {
    FLEETS: 'interviews',
    MEETING_BOT_API_KEY: 'key-1',
    SERVICE_URLS: `recall=${service.url},attendee=${service.url}`,
    ...settings(service),
  });
  const running = await Promise.all([startProcess('api/server.ts', env), startProcess('workers/main.ts', env)]);
  const kit = await interviewing(env, running[0].url);
  return {
    service,
    kit,
    mine: kit.of(await kit.api.newOrg()),
    async close() {
      await kit.close();
      await Promise.all(running.map((process) => process.stop()));
      await service.close();
      await removeDataDir(env);
    },
  };
}
