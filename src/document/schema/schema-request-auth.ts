/** The schema of `config.auth`: how requests authenticate to other systems. */
import Type from 'typebox'
import { nonEmptyText, optional, record, UNKNOWN, UNKNOWN_URL } from './schema-fields.ts'

const SECRET = `\${env:CROSSWALK_SECRET_…}`
const example = (name: string) => `\${env:CROSSWALK_SECRET_${name}}`
const file = (name: string) => `\${file:/run/secrets/crosswalk/${name}.pem}`

const secret = (description: string, name: string) =>
  nonEmptyText({
    description: `${description}, best a reference such as \`${SECRET}\`.`,
    examples: [example(name)],
    fallback: UNKNOWN,
  })
const word = (description: string, name: string) => nonEmptyText({ description, examples: [name], fallback: UNKNOWN })

export const RequestAuthSchema = record(
  {
    basic: optional(
      record(
        { username: word('The user.', 'crosswalk'), password: secret('The password', 'STORE') },
        { description: 'User and password (RFC 7617).' },
      ),
    ),
    bearer: optional(secret('A token that is sent as `Authorization: Bearer …`', 'TOKEN')),
    oauth2: optional(
      record(
        {
          tokenUrl: Type.String({
            description: 'Absolute http or https URL of the token endpoint.',
            examples: ['https://id.example.org/token'],
            fallback: UNKNOWN_URL,
          }),
          clientId: word('The id of this client there.', 'crosswalk'),
          clientSecret: secret('Its secret', 'CLIENT'),
          scope: optional(word('The scopes to ask for, with spaces between them.', 'system/Patient.read')),
          audience: optional(word('The `audience` to ask for, where the token endpoint wants one.', 'fhir')),
        },
        {
          description:
            'A token of OAuth 2.0 by client credentials (RFC 6749), which is kept until shortly before it ends.',
        },
      ),
    ),
    tls: optional(
      record(
        {
          cert: optional(word('The certificate of this client, in PEM form.', file('client'))),
          key: optional(
            nonEmptyText({
              description: 'The private key of `cert`, in PEM form, best a reference.',
              examples: [file('client-key')],
              fallback: UNKNOWN,
            }),
          ),
          ca: optional(
            word('The authorities that are trusted instead of the usual ones, in PEM form.', file('authority')),
          ),
        },
        { description: 'Certificates for the connection, beside one of the others or alone.' },
      ),
    ),
  },
  { description: 'How the request authenticates: one of `basic`, `bearer` and `oauth2`, or `tls`, or both.' },
)
