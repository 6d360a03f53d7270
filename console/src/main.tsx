/** Entry point of the console: mounts the page. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-keys.ts'
import { startSession } from './api/session.ts'
import { createConsoleRouter } from './app/router.tsx'
import { startKeymap } from './ui/keys/keymap.ts'
import { startTheme } from './ui/theme.ts'
import './ui/styles/base.css'
import './ui/styles/layout.css'
import './ui/styles/controls.css'
import './ui/styles/data.css'
import './ui/styles/editor.css'
import './ui/styles/form.css'
import './ui/styles/mapping.css'
import './ui/styles/parts.css'
import './ui/styles/shell.css'

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no element for the console.')

startTheme()
startKeymap()
void startSession()
createRoot(root).render(
  <StrictMode>
    <I18nProvider locale="en-US">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={createConsoleRouter()} />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
)
