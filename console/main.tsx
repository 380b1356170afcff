import './kernel/tokens.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueries } from './kernel/data/ask.ts';
import { sessionCaches } from './kernel/data/session.ts';
import { showTheme } from './kernel/shell/theme.ts';
import { createConsoleRouter } from './routes.tsx';

showTheme();
const queries = createQueries(sessionCaches);
const router = createConsoleRouter(queries);

const place = document.getElementById('console');
if (!place) throw new Error('The page has no place for the console');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
