"""Bumble writes out each packet for its log, also where nobody listens; emulated processors have better to do."""

import sys

from bumble import att, colors, hci, l2cap, smp


def quicken() -> None:
    def plain(text: str, *_arguments, **_options) -> str:
        return text

    for name, module in list(sys.modules.items()):
        if name.startswith("bumble.") and getattr(module, "color", None) is colors.color:
            module.color = plain
    packets = [hci.HCI_Packet, att.ATT_PDU, smp.SMP_Command, l2cap.L2CAP_PDU, l2cap.L2CAP_Control_Frame]
    while packets:
        each = packets.pop()
        each.__str__ = object.__repr__
        packets += each.__subclasses__()
