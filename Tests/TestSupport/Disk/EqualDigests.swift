/// Keys of which each two adjacent ones have equal digests in the index of a dense file. A search among 2²⁶ keys found
/// them.
package enum EqualDigests {
  package static let keys: [[UInt8]] = numbers.map { number in
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static let numbers: [UInt64] = [
    32_531_348, 54_595_809, 11_158_935, 9_695_635, 28_253_010, 28_791_080, 3_731_439, 44_402_952, 19_496_843,
    25_592_604, 3_387_086, 64_813_055, 32_550_943, 47_067_992, 33_299_349, 50_940_219, 19_194_188, 53_229_086,
    38_957_711, 42_515_252, 6_620_452, 66_210_419, 22_594_947, 49_774_507,
  ]
}
