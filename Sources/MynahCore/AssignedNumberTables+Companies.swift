extension AssignedNumberTables {
    /// The company identifiers that are common in advertising, out of thousands in Assigned Numbers, 7.1.
    static let companies: StaticString = """
        0000 Ericsson AB
        0001 Nokia Mobile Phones
        0002 Intel Corp.
        0003 IBM Corp.
        0006 Microsoft
        000A Qualcomm Technologies International, Ltd. (QTIL)
        000D Texas Instruments Inc.
        000F Broadcom Corporation
        001D Qualcomm
        0030 ST Microelectronics
        0046 MediaTek, Inc.
        0047 Bluegiga
        004C Apple, Inc.
        0057 Harman International Industries, Inc.
        0059 Nordic Semiconductor ASA
        005D Realtek Semiconductor Corporation
        0065 HP, Inc.
        006B Polar Electro OY
        0075 Samsung Electronics Co. Ltd.
        0078 Nike, Inc.
        0087 Garmin International, Inc.
        009E Bose Corporation
        009F Suunto Oy
        00CD Microchip Technology Inc.
        00D2 Renesas Design Netherlands B.V.
        00E0 Google
        0118 Radius Networks, Inc.
        012D Sony Corporation
        0131 Cypress Semiconductor
        0157 Anhui Huami Information Technology Co., Ltd.
        0171 Amazon.com Services LLC
        01A9 Canon Inc.
        01AB Meta Platforms, Inc.
        01DA Logitech International SA
        01DD Koninklijke Philips N.V.
        0211 Telink Semiconductor Co. Ltd
        022B Tesla, Inc.
        027D HUAWEI Technologies Co., Ltd.
        02D5 OMRON Corporation
        02E5 Espressif Systems (Shanghai) Co., Ltd.
        02FF Silicon Laboratories
        038F Xiaomi Inc.
        0397 LEGO System A/S
        0499 Ruuvi Innovations Ltd.
        0600 iRobot Corporation
        0639 Shenzhen Minew Technologies Co., Ltd.
        067C Tile, Inc.
        0822 adafruit industries
        """
}
