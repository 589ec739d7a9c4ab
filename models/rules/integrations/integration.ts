/** Connections to other services: which there are, and their states. Pure. */

export const integrationProviders = ['linear', 'slack', 'github', 'email', 'teams'] as const;
export type IntegrationProvider = (typeof integrationProviders)[number];

/** As people read them. */
export const providerNames: Readonly<Record<IntegrationProvider, string>> = {
  linear: 'Linear',
  slack: 'Slack',
  github: 'GitHub',
  email: 'E-mail',
  teams: 'Microsoft Teams',
};

/** `broken`: the provider refuses the credential; it has to be connected again. */
export const integrationStatuses = ['connected', 'broken', 'disconnected'] as const;
export type IntegrationStatus = (typeof integrationStatuses)[number];
