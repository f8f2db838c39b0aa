export { type RolloutProgress, type SingleTurnOptions, singleTurn } from './single-turn.js';
