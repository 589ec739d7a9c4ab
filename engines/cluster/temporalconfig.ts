/** The configuration file of one node of Temporal with all four services, on 127.0.0.1. */
import { stringify } from 'yaml';
import { temporal } from './shape.ts';

/** Temporal's usual ports of each service: for calls, and for cluster membership. */
const services = {
  frontend: [7233, 6933],
  history: [7234, 6934],
  matching: [7235, 6935],
  worker: [7239, 6939],
} as const;
export const nodePorts: readonly number[] = Object.values(services).flat();

export function temporalConfig(node: {
  portOf: (usual: number) => number;
  /** The address of PostgreSQL. */
  database: string;
  /** The address of Temporal's frontends, to which the server's own workflows connect. */
  frontend: string;
  /** The path of the dynamic configuration. */
  dynamicConfig: string;
}): string {
  const sql = (databaseName: string) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: node.database,
      connectProtocol: 'tcp',
      user: 'temporal',
      password: '',
      maxConns: 20,
      maxIdleConns: 20,
      maxConnLifetime: '1h',
    },
  });
  return stringify({
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: temporal.historyShards,
      datastores: { default: sql('temporal'), visibility: sql('temporal_visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(
      Object.entries(services).map(([name, [calls, membership]]) => [
        name,
        { rpc: { grpcPort: node.portOf(calls), membershipPort: node.portOf(membership), bindOnIP: '127.0.0.1' } },
      ]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: node.frontend },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    publicClient: { hostPort: node.frontend },
    dynamicConfigClient: { filepath: node.dynamicConfig, pollInterval: '10s' },
  });
}
