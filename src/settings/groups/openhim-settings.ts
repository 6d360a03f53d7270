/** The settings of the OpenHIM mediator mode. They have no effect unless `OPENHIM_REGISTER` is true. */
import { type AddressRange, parseRange } from '../../core/egress/egress-policy.ts'
import {
  choice,
  createKind,
  credential,
  flag,
  httpUrl,
  isPlainUrl,
  type Kind,
  matching,
  optional,
  type Setting,
  splitList,
} from '../setting-kinds.ts'

const callers: Kind<readonly AddressRange[]> = createKind(
  'nothing, or addresses and ranges (`10.1.0.0/16`) joined by commas',
  (text) => {
    const ranges = splitList(text).map(parseRange)
    return ranges.every((range) => range !== undefined) ? ranges : undefined
  },
)

/** The name is a header of its own after a 401, and a part of Basic credentials before. */
const username = matching('a name of at least 2 ASCII characters without spaces and `:`', /^[!-9;-~]{2,255}$/)

/** Without `%`, because the core decodes the URN in a path twice. */
const urn = matching(
  'a name that starts with a letter or digit, without spaces and `%`',
  /^[a-z0-9][!-$&-~]{1,254}$/i,
  ', such as `urn:mediator:crosswalk`',
)

const originUrl = createKind('an `http://` or `https://` URL without credentials, path, query and fragment', (text) =>
  isPlainUrl(text) && new URL(text).pathname === '/' ? text : undefined,
)

export const openhim = {
  openhimRegister: {
    name: 'OPENHIM_REGISTER',
    kind: flag,
    default: 'false',
    means:
      'Whether the service registers as a mediator with an OpenHIM core and answers its requests as a mediator; requires `OPENHIM_USERNAME`, `OPENHIM_PASSWORD` and `MEDIATOR_URN`.',
  },
  openhimUrl: {
    name: 'OPENHIM_URL',
    kind: httpUrl,
    default: 'https://localhost:8080',
    means: 'URL of the API of the core.',
    secret: true,
  },
  openhimUsername: {
    name: 'OPENHIM_USERNAME',
    kind: optional(username),
    default: '',
    means: 'Name of a user of the core who may register mediators, such as `root@openhim.org`.',
  },
  openhimPassword: {
    name: 'OPENHIM_PASSWORD',
    kind: optional(credential),
    default: '',
    means: 'Password of that user.',
    secret: true,
  },
  openhimTrustSelfSigned: {
    name: 'TRUST_SELF_SIGNED',
    kind: flag,
    default: 'false',
    means: 'Whether the certificate of the core is not checked. It has no effect on any other connection.',
  },
  mediatorUrn: {
    name: 'MEDIATOR_URN',
    kind: optional(urn),
    default: '',
    means: 'Name of this mediator in the core. Instances that share a store share it.',
  },
  mediatorUrl: {
    name: 'MEDIATOR_URL',
    kind: optional(originUrl),
    default: '',
    means:
      'URL at which the core reaches the message port, such as `http://crosswalk:3003`. Unset: `HOST` and `SERVER_PORT`, with the name of this machine if `HOST` is every address.',
    secret: true,
  },
  openhimCallers: {
    name: 'OPENHIM_CALLERS',
    kind: callers,
    default: '',
    means:
      'Addresses whose header `X-OpenHIM-TransactionID` is trusted without the `auth` of an endpoint: those from which the core sends messages.',
  },
  openhimOrchestrations: {
    name: 'OPENHIM_ORCHESTRATIONS',
    kind: choice('off', 'metadata', 'bodies'),
    default: 'metadata',
    means:
      'What the core learns of the calls of a message: nothing, each call without its bodies, or with them, cut and redacted as in the message log.',
  },
} as const satisfies Record<string, Setting<unknown>>
