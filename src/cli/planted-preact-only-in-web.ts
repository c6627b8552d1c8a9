import 'preact';
