/** The key that the console calls the service with: asked for when a call is refused without one, kept for this tab only. */
import { byId } from './elements.js'

const NAME = 'crosswalk-key'

/** @typedef {{ get(): string | undefined, ask(refused: string | undefined, why: string): Promise<string | undefined> }} Keyring */

/** @returns {Keyring} */
export function createKeyring() {
  let asking
  const get = () => sessionStorage.getItem(NAME) ?? undefined
  return {
    get,
    /** A key other than the refused one, or undefined if the user gives none. Calls that are refused together ask once. */
    ask: async (refused, why) => {
      const now = get()
      if (now !== undefined && now !== refused) return now
      asking ??= showDialog(why).finally(() => {
        asking = undefined
      })
      const key = await asking
      if (key !== undefined) sessionStorage.setItem(NAME, key)
      return key
    },
  }
}

function showDialog(why) {
  const dialog = byId('key')
  const input = byId('key-input')
  byId('key-text').textContent = why
  input.value = ''
  dialog.returnValue = ''
  dialog.showModal()
  input.focus()
  return new Promise((resolve) => {
    const close = () => {
      const key = input.value.trim()
      input.value = ''
      resolve(dialog.returnValue === 'agree' && key !== '' ? key : undefined)
    }
    dialog.addEventListener('close', close, { once: true })
  })
}

export function connectKey() {
  const dialog = byId('key')
  byId('key-agree').addEventListener('click', () => dialog.close('agree'))
  byId('key-cancel').addEventListener('click', () => dialog.close(''))
  byId('key-input').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') dialog.close('agree')
  })
}
