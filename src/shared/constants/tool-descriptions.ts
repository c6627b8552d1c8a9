/** As long as the description of a tool is, in characters, where it is limited. */
export const toolDescriptionCharsMax = 1024;
