// A program that imports MynahHost names these modules' types when it makes a radio.
@_exported public import MynahCore
@_exported public import MynahHCI
