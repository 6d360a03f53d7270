/** A question that stays beside the text until it is decided, with its answers as buttons and links. */
import { byId, element } from './elements.js'

export function createNotice() {
  const hide = () => {
    byId('notice').hidden = true
  }
  return {
    hide,
    /** @param {({ label: string, href: string } | { label: string, run: () => void })[]} answers */
    show: (text, answers) => {
      byId('notice-text').replaceChildren(...text)
      byId('notice-answers').replaceChildren(...answers.map(answerElement))
      byId('notice').hidden = false
    },
  }
}

function answerElement({ label, href, run }) {
  if (href !== undefined) return element('a', { class: 'button', href, target: '_blank', rel: 'noopener' }, label)
  const button = element('button', { type: 'button' }, label)
  button.addEventListener('click', run)
  return button
}
