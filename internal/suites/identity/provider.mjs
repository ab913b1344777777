// A certified OpenID provider on a free port of loopback, which it prints. Its own pages ask
// for a login and a password, and take any: the login is the subject. REDIRECT is the address
// to which it sends people back.
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const key = (...how) => generateKeyPairSync(...how).privateKey.export({ format: 'jwk' })
const client = { client_secret: 'not-a-secret', redirect_uris: [process.env.REDIRECT] }
const server = createServer()

server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [
      { ...client, client_id: 'vestibule' },
      { ...client, client_id: 'posting', token_endpoint_auth_method: 'client_secret_post' },
      { ...client, client_id: 'elliptic', id_token_signed_response_alg: 'ES256' },
    ],
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256'] },
    clientAuthMethods: process.env.AUTH_METHODS?.split(' '),
    jwks: { keys: [key('rsa', { modulusLength: 2048 }), key('ec', { namedCurve: 'P-256' })] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    // By the standard an address is in userinfo alone.
    conformIdTokenClaims: process.env.CLAIMS_IN_TOKEN !== 'true',
    findAccount: (_, login) => ({
      accountId: login,
      claims: () => ({
        sub: login, email: `${login}@example.com`, email_verified: login !== 'mallory', name: `The person ${login}`, groups: ['staff'],
      }),
    }),
  })
  server.on('request', provider.callback())
  console.log(issuer)
})
