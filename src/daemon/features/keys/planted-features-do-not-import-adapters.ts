import '../../http/server.ts';
