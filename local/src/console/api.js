// Swagger UI over the API's description, signed in as the visitor of the switch.
import { token } from '/_local/console.js';

// Requests of Swagger UI that carry no token of their own get the visitor's.
const signed = async request => {
  const bearer = request.url.endsWith('/openapi.json') ? null : await token().catch(() => null);
  if (bearer) request.headers.Authorization ??= `Bearer ${bearer}`;
  return request;
};
// Its stylesheet has dark colours under this class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.onchange = follow;
follow();
SwaggerUIBundle({
  dom_id: '#swagger', url: '/openapi.json', deepLinking: true, docExpansion: 'list', filter: true, tryItOutEnabled: true,
  defaultModelsExpandDepth: 0, displayRequestDuration: true, showExtensions: false, requestInterceptor: signed,
  presets: [SwaggerUIBundle.presets.apis], validatorUrl: null,
});
