import { render } from 'preact';
import { App } from './app.tsx';
import { startPainting } from './painting.ts';
import { startRouter } from './router.ts';
import { resume } from './session.ts';
import { startTheme } from './theme.ts';
import { startUnsaved } from './unsaved.ts';

startTheme();
startPainting();
startRouter();
startUnsaved();
render(<App />, document.body);
void resume();
