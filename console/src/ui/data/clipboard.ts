/** Taking text out of the page. */
import { notify } from '../states/notices.tsx'

/** Copies a text and says so; `what` names it, such as "Request body". */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    notify(`${what} copied.`)
  } catch {
    // Browsers offer the clipboard to pages from this machine or over HTTPS only.
    notify('The browser did not allow copying. Select the text and copy it.', 'warn')
  }
}

const READ_BY_THEN_MS = 10_000

/** Downloads a text, or bytes that are its content. `fileName` is ours: never a name that a message or a document gave. */
export function downloadText(text: string | Blob, fileName: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = fileName
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), READ_BY_THEN_MS)
}
