export { type GatewayConfig, readConfig } from './config';
export { createGateway } from './create-gateway';
