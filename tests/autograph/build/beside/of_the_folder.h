#define OF_THE_FOLDER 1
