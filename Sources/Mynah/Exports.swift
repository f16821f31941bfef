// A program that imports Mynah names these modules' types in every call.
@_exported public import MynahCore
@_exported public import MynahLifecycle
