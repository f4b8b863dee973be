export type { ChatMessage, ModelAnswer, ModelClient, ModelEvent, ModelRequest } from './model-client';
export { ModelError, type ModelErrorCode } from './model-errors';
export { OpenAiModelClient, type OpenAiModelClientOptions } from './openai-model-client';
export { type OwnPrice, PriceTable } from './price-table';
export { countTokens } from './token-count';
