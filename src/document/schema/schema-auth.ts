/** The schema of `auth`: how the callers of an endpoint authenticate. */
import Type from 'typebox'
import { list, named, nonEmptyText, optional, record, UNKNOWN } from './schema-fields.ts'

const reference = (name: string) => `\${env:${name}}`
const SECRET = reference('CROSSWALK_SECRET_…')
const url = (description: string, example: string) => Type.String({ description, examples: [example] })

export const AuthSchema = record(
  {
    apiKey: optional(
      record(
        {
          header: optional(
            nonEmptyText({
              description: 'The header with the key.',
              assumed: '`X-API-Key`',
              examples: ['X-Lab-Key'],
            }),
          ),
          keys: list(
            nonEmptyText({
              description: 'A reference to a secret.',
              fallback: UNKNOWN,
              examples: [reference('CROSSWALK_SECRET_LAB')],
            }),
            {
              description: `The accepted keys, each a reference such as \`${SECRET}\`.`,
              expects: 'an array of references to secrets, with at least one of them',
              minItems: 1,
              fallback: [UNKNOWN],
              examples: [[reference('CROSSWALK_SECRET_LAB')]],
            },
          ),
        },
        { description: 'An API key in a header.' },
      ),
    ),
    basic: optional(
      record(
        {
          users: named(nonEmptyText({ description: 'A reference to the password.', fallback: UNKNOWN }), {
            description: `User → password, a reference such as \`${SECRET}\`.`,
            fallback: { [UNKNOWN]: UNKNOWN },
            examples: [{ lab: reference('CROSSWALK_SECRET_LAB') }],
          }),
        },
        { description: 'User and password (RFC 7617).' },
      ),
    ),
    jwt: optional(
      record(
        {
          issuer: optional(
            nonEmptyText({ description: 'The required `iss` of a token.', examples: ['https://id.example.org/'] }),
          ),
          audience: optional(nonEmptyText({ description: 'The required `aud` of a token.', examples: ['crosswalk'] })),
          jwksUrl: optional(
            url('URL of the public keys of the issuer.', 'https://id.example.org/.well-known/jwks.json'),
          ),
          secret: optional(
            nonEmptyText({
              description: `The secret shared with the issuer, instead of \`jwksUrl\`: a reference such as \`${SECRET}\`.`,
              examples: [reference('CROSSWALK_SECRET_TOKENS')],
            }),
          ),
          scopes: optional(
            list(nonEmptyText({ description: 'A scope.', examples: ['orders.write'] }), {
              description: 'Scopes (`scope` or `scp`), all of which a token must have.',
              examples: [['orders.write']],
            }),
          ),
        },
        { description: 'A JSON Web Token, as `Authorization: Bearer …`.' },
      ),
    ),
  },
  {
    description:
      'How callers authenticate; of several methods, one is enough. Records of topics and replays need none.',
  },
)
