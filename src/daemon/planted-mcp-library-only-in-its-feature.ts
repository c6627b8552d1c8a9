import '@modelcontextprotocol/server';
