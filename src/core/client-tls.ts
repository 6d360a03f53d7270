/** Certificates of a request, in place of those that Node.js trusts and without any that the service would show. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'

/** Texts in PEM form. `ca`: the authorities that the server's certificate is checked against, alone. */
export type ClientTls = Readonly<{ cert?: string; key?: string; ca?: string }>

type TlsFault = Readonly<{ field: keyof ClientTls; message: string }>

/** Why the texts cannot be used, as the end of a sentence that quotes none of them; undefined if they can. */
export function findTlsFault({ cert, key, ca }: ClientTls): TlsFault | undefined {
  if (ca !== undefined && !succeeds(() => new X509Certificate(ca))) return { field: 'ca', message: NO_CERTIFICATE }
  if (cert !== undefined && !succeeds(() => new X509Certificate(cert)))
    return { field: 'cert', message: NO_CERTIFICATE }
  if (key !== undefined && !succeeds(() => createPrivateKey(key))) return { field: 'key', message: NO_KEY }
  if (cert !== undefined && key !== undefined) {
    const isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
    if (!isPair) return { field: 'key', message: 'is not the key of the certificate in "cert"' }
  }
  return findRefusal({ ca }) ?? findRefusal({ cert }) ?? findRefusal({ key })
}

/** What OpenSSL refuses though it can be read, such as a key that is too short, or a chain that breaks off. */
function findRefusal(one: { readonly [Field in keyof ClientTls]: string | undefined }): TlsFault | undefined {
  const [[field, text] = []] = Object.entries(one) as [keyof ClientTls, string | undefined][]
  if (field === undefined || text === undefined) return undefined
  try {
    createSecureContext({ [field]: text })
    return undefined
  } catch (thrown) {
    const { reason = 'OpenSSL refuses it' } = thrown as { reason?: string }
    return { field, message: `cannot be used for a connection: ${reason}` }
  }
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
