/** Certificates of a request, in place of those that Node.js trusts and without any that the service would show. */
import { createPrivateKey, X509Certificate } from 'node:crypto'

/** Texts in PEM form. `ca`: the authorities that the server's certificate is checked against, alone. */
export type ClientTls = Readonly<{ cert?: string; key?: string; ca?: string }>

type TlsFault = Readonly<{ field: keyof ClientTls; message: string }>

/** Why the texts cannot be used, as the end of a sentence that quotes none of them; undefined if they can. */
export function findTlsFault({ cert, key, ca }: ClientTls): TlsFault | undefined {
  if (ca !== undefined && !succeeds(() => new X509Certificate(ca))) return { field: 'ca', message: NO_CERTIFICATE }
  if (cert !== undefined && !succeeds(() => new X509Certificate(cert)))
    return { field: 'cert', message: NO_CERTIFICATE }
  if (key !== undefined && !succeeds(() => createPrivateKey(key))) return { field: 'key', message: NO_KEY }
  if (cert === undefined || key === undefined) return undefined
  const isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  return isPair ? undefined : { field: 'key', message: 'is not the key of the certificate in "cert"' }
}

const NO_CERTIFICATE = 'holds no certificate in PEM form'
const NO_KEY = 'holds no private key in PEM form, or one that needs a passphrase'

function succeeds(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}
