/** The rendered API reference at /docs. This process serves all its assets; the page loads nothing from other hosts. */
import { createHash } from 'node:crypto';

const script = `SwaggerUIBundle({ url: '/v1/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'none', tryItOutEnabled: true, persistAuthorization: false });`;

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Support platform: API reference</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<main id="reference"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>${script}</script>
</body>
</html>
`;

const hash = createHash('sha256').update(script).digest('base64');
/**
 * Only this server's scripts and the inline script above may run. Inline styles are allowed because Swagger UI sets
 * them.
 */
const policy = `default-src 'self'; script-src 'self' 'sha256-${hash}'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'`;

export const docsPage = { html, policy };
