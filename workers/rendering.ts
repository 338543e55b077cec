import { render } from '#rendering/render.ts';

export default render;
