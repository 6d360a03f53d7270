/** The schema of `auth`: by what the callers of an endpoint prove who they are. */
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
              description: 'The header that holds the key.',
              assumed: '`X-API-Key`',
              examples: ['X-Lab-Key'],
            }),
          ),
          keys: list(
            nonEmptyText({
              description: 'A reference to a secret.',
              salvage: UNKNOWN,
              examples: [reference('CROSSWALK_SECRET_LAB')],
            }),
            {
              description: `The keys that are taken, each a reference such as \`${SECRET}\`.`,
              expects: 'an array of references to secrets, with at least one of them',
              minItems: 1,
              salvage: [UNKNOWN],
              examples: [[reference('CROSSWALK_SECRET_LAB')]],
            },
          ),
        },
        { description: 'A key in a header.' },
      ),
    ),
    basic: optional(
      record(
        {
          users: named(nonEmptyText({ description: 'A reference to the password.', salvage: UNKNOWN }), {
            description: `User → password, a reference such as \`${SECRET}\`.`,
            salvage: { [UNKNOWN]: UNKNOWN },
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
            nonEmptyText({ description: 'The `iss` that a token must have.', examples: ['https://id.example.org/'] }),
          ),
          audience: optional(
            nonEmptyText({ description: 'The `aud` that a token must have.', examples: ['crosswalk'] }),
          ),
          jwksUrl: optional(
            url('Where the public keys of the issuer are.', 'https://id.example.org/.well-known/jwks.json'),
          ),
          secret: optional(
            nonEmptyText({
              description: `The secret shared with the issuer, instead of \`jwksUrl\`: a reference such as \`${SECRET}\`.`,
              examples: [reference('CROSSWALK_SECRET_TOKENS')],
            }),
          ),
          scopes: optional(
            list(nonEmptyText({ description: 'A scope.', examples: ['orders.write'] }), {
              description: 'Scopes (`scope` or `scp`) that a token must have, all of them.',
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
      'By what callers prove who they are; of several ways, one is enough. Records of topics and replays need none.',
  },
)
