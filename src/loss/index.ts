export { sequenceMean, tokenMean } from './aggregation.js';
export { type ClipOptions, clip } from './clip.js';
