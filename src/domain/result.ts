/** What reading a piece of configuration gives: the value, or one sentence saying what is wrong with it. */
export type Result<T> = Readonly<{ ok: true; value: T }> | Readonly<{ ok: false; message: string }>

export const found = <T>(value: T): Result<T> => ({ ok: true, value })
export const fault = <T = never>(message: string): Result<T> => ({ ok: false, message })
