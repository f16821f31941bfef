// A program that imports MynahHost needs types of these modules to make a radio.
@_exported public import MynahCore
@_exported public import MynahHCI
