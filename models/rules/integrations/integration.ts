/** The services that can be connected, and the states of a connection. Pure. */

export const integrationProviders = ['linear', 'slack', 'github', 'email', 'teams'] as const;
export type IntegrationProvider = (typeof integrationProviders)[number];

export const providerNames: Readonly<Record<IntegrationProvider, string>> = {
  linear: 'Linear',
  slack: 'Slack',
  github: 'GitHub',
  email: 'E-mail',
  teams: 'Microsoft Teams',
};

/** `broken`: the provider refuses the credential, so the service must be connected again. */
export const integrationStatuses = ['connected', 'broken', 'disconnected'] as const;
export type IntegrationStatus = (typeof integrationStatuses)[number];
