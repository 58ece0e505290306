mod corpus;
mod hostile;
mod messages;
mod situation;
mod template;
