/**
 * Builds Temporal's time-skipping test server (Java), in which thirty days pass in two seconds. The server is for tests
 * only, because it has no schedules, no listing and no storage.
 */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, cached, onPath, run, verify } from './cache.ts';
import type { Report } from './cache.ts';
import { runMaven } from './maven.ts';

const version = '1.38.0';
const jarSha256 = 'c6c813bbee46dcdc9df5a018fe6ed4caaf79b0c3c9511a3dd6275232a6d8538e';

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>testserver</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId><version>${version}</version></dependency>
  </dependencies>
</project>
`;

/**
 * A replacement for the server's main class, which would listen on every interface. The replacement takes the same
 * arguments and listens only on 127.0.0.1.
 */
const java = `import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.temporal.internal.testservice.GRPCServerHelper;
import io.temporal.internal.testservice.TestServicesStarter;
import java.net.InetSocketAddress;
import java.util.Arrays;

public class Loopback {
  public static void main(String[] args) throws Exception {
    boolean lockTimeSkipping = !Arrays.asList(args).contains("--enable-time-skipping");
    TestServicesStarter services = new TestServicesStarter(lockTimeSkipping, 0);
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
    GRPCServerHelper.registerServicesAndHealthChecks(services.getServices(), builder);
    builder.build().start().awaitTermination();
  }
}
`;

/** The server gets a small heap and one compiler tier, because it runs for seconds beside other test processes. */
const script = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx512m -cp "$here/classes:$here/lib/*" Loopback "$@"
`;

/**
 * The path of an executable that takes `PORT [--enable-time-skipping]`, listens on that port of 127.0.0.1 and runs
 * until it is killed.
 */
export async function findTestServer(report: Report): Promise<string> {
  if ((await onPath('java')) === undefined) {
    throw new EngineError('The workflow tests need Java: install a JDK, 17 or newer, and try again.');
  }
  const folder = await cached({ name: 'temporal-test-server', version, report }, async (temporary) => {
    for (const program of ['javac', 'mvn']) {
      if ((await onPath(program)) !== undefined) continue;
      throw new EngineError(
        `The workflow tests need ${program}: install a JDK (17 or newer) and Maven, and try again.`,
      );
    }
    await writeFile(join(temporary, 'pom.xml'), pom);
    const goals = [
      'dependency:copy-dependencies',
      '-DincludeScope=runtime',
      `-DoutputDirectory=${join(temporary, 'lib')}`,
    ];
    await runMaven(goals, temporary, `Temporal's test server ${version} (38 MB)`, report);
    await verify(join(temporary, 'lib', `temporal-test-server-${version}.jar`), jarSha256);
    await mkdir(join(temporary, 'classes'));
    await writeFile(join(temporary, 'Loopback.java'), java);
    await run('javac', [
      '-cp',
      join(temporary, 'lib', '*'),
      '-d',
      join(temporary, 'classes'),
      join(temporary, 'Loopback.java'),
    ]);
    await writeFile(join(temporary, 'testserver'), script);
    await chmod(join(temporary, 'testserver'), 0o755);
  });
  return join(folder, 'testserver');
}
