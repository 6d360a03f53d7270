/** The settings of MLLP. */
import { egressRules } from '../egress-kinds.ts'
import { pemFile } from '../pem-file.ts'
import { optional, type Setting } from '../setting-kinds.ts'

export const mllp = {
  mllpTargetTls: {
    name: 'MLLP_TARGET_TLS',
    kind: egressRules,
    default: '',
    means:
      'The targets of `mllp://` requests to which connections are encrypted, as their URLs name them; `*` for all. Their certificates are always checked.',
  },
  mllpTargetTlsCa: {
    name: 'MLLP_TARGET_TLS_CA_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Certificates of the trusted authorities for these targets, instead of those of Node.js.',
  },
  mllpTargetTlsCert: {
    name: 'MLLP_TARGET_TLS_CERT_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Certificate of the service for these targets; requires `MLLP_TARGET_TLS_KEY_FILE`.',
  },
  mllpTargetTlsKey: {
    name: 'MLLP_TARGET_TLS_KEY_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Private key of that certificate.',
  },
} as const satisfies Record<string, Setting<unknown>>
