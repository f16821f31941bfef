// A program that imports MynahBlueZ names this module's types when it makes a radio.
@_exported public import MynahCore
