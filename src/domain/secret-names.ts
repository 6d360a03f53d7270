/** Headers and properties whose value is a credential, or may be one. Names in full would miss `x-acme-api-key`. */
const SECRET = /authorization|cookie|api-?_?key|subscription-key|token|secret|password|credential/i

export const isSecretName = (name: string): boolean => SECRET.test(name)

/** Stands for a value that is not shown. */
export const REDACTED = '[redacted]'
