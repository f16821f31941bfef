import Testing

@testable import MynahCore

@Suite struct ExactNumberTests {
    @Test(arguments: [
        (ExactNumber(1.5), ExactNumber(2)), (ExactNumber(Int64.max), ExactNumber(UInt64.max)),
        (ExactNumber(9_007_199_254_740_992), ExactNumber(9_007_199_254_740_993)),
        (ExactNumber(-Double.infinity), ExactNumber(Int64.min)),
    ])
    func `numbers are compared with all their digits`(less: ExactNumber, more: ExactNumber) {
        #expect(less < more && less <= more && more > less && more >= less && less != more)
        #expect(!(more < less) && !(more <= less) && !(less > more) && !(less >= more))
        #expect(less <= less && less >= less)
    }

    @Test(arguments: [ExactNumber(0), ExactNumber(0.5), ExactNumber(.nan)])
    func `not a number is neither below nor above a number`(number: ExactNumber) {
        let none = ExactNumber(.nan)
        #expect(!(none < number) && !(none <= number) && !(none > number) && !(none >= number))
        #expect(!(number < none) && !(number <= none) && !(number > none) && !(number >= none))
    }
}
