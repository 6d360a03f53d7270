/** A schema that a newer version of the service wrote: there is no way back from it. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew'

  constructor(version: number, known: number) {
    super(`its schema has version ${version}, and this service knows up to ${known}`)
  }
}
