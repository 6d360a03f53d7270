/** The settings of the secrets that documents may refer to, and of the targets of their requests. */
import { egressRules } from '../egress-kinds.ts'
import { choice, createKind, type Setting, splitList } from '../setting-kinds.ts'

const secretsAllowed = createKind(
  'names of variables, in which `*` matches any characters, and absolute paths of folders, joined by commas, or `none`',
  (text) => {
    const items = text.toLowerCase() === 'none' ? [] : splitList(text)
    const folders = items.filter((item) => item.startsWith('/'))
    const names = items.filter((item) => !item.startsWith('/'))
    const isFolder = (path: string): boolean => /^(?:\/[^/]+)+\/?$/.test(path) && !/\/\.\.?(?:\/|$)/.test(path)
    const areNames = names.every((name) => /^[A-Za-z0-9_*]+$/.test(name))
    return areNames && folders.every(isFolder) ? { names, folders } : undefined
  },
)

export const secrets = {
  secretsAllowed: {
    name: 'SECRETS_ALLOW',
    kind: secretsAllowed,
    default: 'CROSSWALK_SECRET_*,/run/secrets/crosswalk',
    means: `The secrets that documents may refer to as \`\${env:NAME}\` and \`\${file:/path}\`: variables of the environment, and files in these folders or below.`,
  },
} as const satisfies Record<string, Setting<unknown>>

export const egress = {
  egressAllow: {
    name: 'EGRESS_ALLOW',
    kind: egressRules,
    default: '',
    means:
      'The only targets of lookup and response requests; empty allows all. With `EGRESS_PRIVATE=deny`, its addresses and ranges stay allowed, its hosts only with public addresses.',
  },
  egressDeny: {
    name: 'EGRESS_DENY',
    kind: egressRules,
    default: '',
    means:
      'Targets that are denied even if `EGRESS_ALLOW` lists them. Link-local addresses and those at which clouds serve credentials are always denied.',
  },
  egressPrivate: {
    name: 'EGRESS_PRIVATE',
    kind: choice('allow', 'deny'),
    default: 'allow',
    means:
      '`deny`: lookup and response requests may go to public addresses only, not to this machine, private or otherwise reserved ranges.',
  },
} as const satisfies Record<string, Setting<unknown>>
