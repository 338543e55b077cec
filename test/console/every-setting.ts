import { settingScreens } from '#test/support/console-sample.ts';
import { walkScreens } from '#test/support/every-screen.ts';

walkScreens('settings and oversight', settingScreens);
