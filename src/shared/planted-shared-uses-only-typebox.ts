import 'ajv';
