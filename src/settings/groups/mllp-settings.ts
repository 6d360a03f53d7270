/** The settings of MLLP: of the ports that endpoints name, whose address is `HOST`, and of targets. */
import { egressRules } from '../egress-kinds.ts'
import { pemFile } from '../pem-file.ts'
import { optional, type Setting, wholeNumber } from '../setting-kinds.ts'

export const mllp = {
  mllpMaxConnections: {
    name: 'MLLP_MAX_CONNECTIONS',
    kind: wholeNumber(1, 1_000_000),
    default: '2000',
    means: 'How many connections each of the `WORKERS` holds open on each MLLP port; one more is closed.',
  },
  mllpIdleTimeoutMs: {
    name: 'MLLP_IDLE_TIMEOUT_MS',
    kind: wholeNumber(0, 86_400_000),
    default: '0',
    means:
      'How long a connection of a sender may carry nothing; then it is closed. 0: forever, since many senders keep theirs for days; a sender that is gone is found by TCP keep-alive. One that never sent a message is closed after ten times `SERVER_REQUEST_TIMEOUT_MS` at the latest.',
  },
  mllpTlsCert: {
    name: 'MLLP_TLS_CERT_FILE',
    kind: optional(pemFile),
    default: '',
    means:
      'Certificate of the service for senders: with it, all MLLP ports speak TLS only; requires `MLLP_TLS_KEY_FILE`.',
  },
  mllpTlsKey: {
    name: 'MLLP_TLS_KEY_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Private key of that certificate.',
  },
  mllpTlsCa: {
    name: 'MLLP_TLS_CA_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Certificates of authorities: with it, only senders with a certificate of one of them may connect.',
  },
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
