import '../web/data/route.ts';
