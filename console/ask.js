/** Asks before something is lost. */
import { byId } from './elements.js'

/** Resolves to whether the user agrees; Escape and the cancel button say no. */
export function ask({ title, text, agree, cancel = 'Cancel' }) {
  const dialog = byId('ask')
  byId('ask-title').textContent = title
  byId('ask-text').textContent = text
  byId('ask-agree').textContent = agree
  byId('ask-cancel').textContent = cancel
  dialog.returnValue = ''
  dialog.showModal()
  byId('ask-cancel').focus()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'agree'), { once: true })
  })
}

export const askToDiscard = () =>
  ask({
    title: 'Give up your changes?',
    text: 'The text has changes that are not saved.',
    agree: 'Give them up',
    cancel: 'Keep editing',
  })

export function connectAsk() {
  const dialog = byId('ask')
  byId('ask-agree').addEventListener('click', () => dialog.close('agree'))
  byId('ask-cancel').addEventListener('click', () => dialog.close(''))
}
